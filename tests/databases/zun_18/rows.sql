-- What a cloud had in it when it was taken over: text as the reference implementation writes it.
INSERT INTO zun_service (id, host, "binary", disabled, forced_down, report_count, availability_zone, created_at)
VALUES (3, 'node1', 'zun-compute', '0', '0', 4711, 'nova', '2025-01-01 00:00:00');
INSERT INTO compute_node
(uuid, rp_uuid, hostname, mem_total, mem_free, mem_available, mem_used, total_containers, running_containers,
 paused_containers, stopped_containers, cpus, cpu_used, disk_total, disk_used, labels, runtimes)
VALUES ('aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000001', 'node1', 8192, 0, 8000,
        512, 1, 1, 0, 0, 4, 0.5, 80, 10, '{"rack": "r1"}', '["runc"]');
INSERT INTO registry (id, uuid, project_id, name, domain, username, password)
VALUES (2, 'bbbbbbbb-0000-4000-8000-000000000001', 'p1', 'hub', 'registry.example', 'u', 'gAAAA');
INSERT INTO container
(id, uuid, project_id, user_id, name, image, command, status, environment, container_id, memory, cpu, host,
 labels, addresses, restart_policy, image_pull_policy, registry_id, container_type, created_at, started_at)
VALUES (7, 'cccccccc-0000-4000-8000-000000000001', 'p1', 'u1', 'web', 'nginx', '["nginx", "-g"]', 'Running',
        '{"A": "\u00e9"}', 'f00d', '512', 0.5, 'node1', NULL,
        '{"net": [{"addr": "10.0.0.5", "version": 4, "port": "p"}]}',
        '{"Name": "on-failure", "MaximumRetryCount": "3"}', 'IfNotPresent', 2, 0, '2025-01-01 10:00:00',
        '2025-01-01 10:00:05');
INSERT INTO container (id, uuid, project_id, name, status, container_type, command)
VALUES (8, 'cccccccc-0000-4000-8000-000000000002', 'p1', 'WEB', 'Error', 0, 'sh -c true');
INSERT INTO container (id, uuid, project_id, name, status, container_type)
VALUES (9, 'cccccccc-0000-4000-8000-000000000003', 'p1', 'pod', 'Running', 1);
INSERT INTO container (id, uuid, project_id, name, status, container_type, capsule_id)
VALUES (10, 'cccccccc-0000-4000-8000-000000000004', 'p1', 'capsule-pod-x', 'Running', 2, 9);
INSERT INTO container_actions (id, action, container_uuid, request_id, user_id, project_id, start_time)
VALUES (20, 'create', 'cccccccc-0000-4000-8000-000000000001', 'req-1', 'u1', 'p1', '2025-01-01 10:00:00');
INSERT INTO container_actions_events (id, event, action_id, start_time, finish_time, result)
VALUES (21, 'compute__do_container_create', 20, '2025-01-01 10:00:00', '2025-01-01 10:00:04', 'Success');
INSERT INTO volume (id, uuid, project_id, volume_provider, cinder_volume_id, connection_info)
VALUES (30, 'dddddddd-0000-4000-8000-000000000001', 'p1', 'cinder', 'eeee', '{"driver_volume_type": "rbd"}');
INSERT INTO volume_mapping (id, uuid, project_id, container_uuid, container_path, volume_id)
VALUES (31, 'dddddddd-0000-4000-8000-000000000002', 'p1', 'cccccccc-0000-4000-8000-000000000001', '/data', 30);
INSERT INTO quotas (id, project_id, resource, hard_limit) VALUES (40, 'p1', 'containers', 5);
INSERT INTO quotas (id, project_id, resource, hard_limit) VALUES (41, 'p1', 'containers', 7);
INSERT INTO quotas (id, project_id, resource, hard_limit) VALUES (42, 'p1', 'cpu', NULL);
