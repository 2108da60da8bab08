-- The reference implementation's schema at its last revision, 3f2b36231bee, as SQLite has it.
CREATE TABLE zun_service (
	id INTEGER NOT NULL,
	host VARCHAR(255),
	binary VARCHAR(255),
	disabled BOOLEAN,
	disabled_reason VARCHAR(255),
	last_seen_up DATETIME,
	forced_down BOOLEAN,
	report_count INTEGER NOT NULL,
	availability_zone VARCHAR(255),
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id),
	CONSTRAINT uniq_zun_service0host0binary UNIQUE (host, binary)
);
CREATE TABLE compute_node (
	uuid VARCHAR(36) NOT NULL,
	rp_uuid VARCHAR(36) NOT NULL,
	hostname VARCHAR(255) NOT NULL,
	numa_topology TEXT,
	mem_total INTEGER NOT NULL,
	mem_free INTEGER NOT NULL,
	mem_available INTEGER NOT NULL,
	mem_used INTEGER NOT NULL,
	total_containers INTEGER NOT NULL,
	running_containers INTEGER NOT NULL,
	paused_containers INTEGER NOT NULL,
	stopped_containers INTEGER NOT NULL,
	cpus INTEGER NOT NULL,
	cpu_used FLOAT NOT NULL,
	architecture VARCHAR(32),
	os_type VARCHAR(32),
	os VARCHAR(64),
	kernel_version VARCHAR(128),
	labels TEXT,
	pci_stats TEXT,
	disk_total INTEGER NOT NULL,
	disk_used INTEGER NOT NULL,
	disk_quota_supported BOOLEAN DEFAULT '0' NOT NULL,
	runtimes TEXT,
	enable_cpu_pinning BOOLEAN DEFAULT '0' NOT NULL,
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (uuid),
	CONSTRAINT uniq_compute_node0rp_uuid UNIQUE (rp_uuid)
);
CREATE TABLE pci_device (
	id INTEGER NOT NULL,
	uuid VARCHAR(36),
	compute_node_uuid VARCHAR(36) NOT NULL,
	address VARCHAR(12) NOT NULL,
	vendor_id VARCHAR(4) NOT NULL,
	product_id VARCHAR(4) NOT NULL,
	dev_type VARCHAR(8) NOT NULL,
	dev_id VARCHAR(255),
	label VARCHAR(255) NOT NULL,
	status VARCHAR(36) NOT NULL,
	extra_info TEXT,
	container_uuid VARCHAR(36),
	numa_node INTEGER,
	parent_addr VARCHAR(12),
	request_id VARCHAR(36),
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id),
	FOREIGN KEY(compute_node_uuid) REFERENCES compute_node (uuid),
	CONSTRAINT uniq_pci_device0compute_node_uuid0address UNIQUE (compute_node_uuid, address)
);
CREATE INDEX ix_pci_device_compute_node_uuid ON pci_device (compute_node_uuid);
CREATE INDEX ix_pci_device_compute_node_uuid_parent_addr ON pci_device (compute_node_uuid, parent_addr);
CREATE INDEX ix_pci_device_container_uuid ON pci_device (container_uuid);
CREATE TABLE registry (
	id INTEGER NOT NULL,
	project_id VARCHAR(255),
	user_id VARCHAR(255),
	uuid VARCHAR(36),
	name VARCHAR(255),
	domain VARCHAR(255) NOT NULL,
	username VARCHAR(255),
	password VARCHAR(255),
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id),
	CONSTRAINT uniq_registry0uuid UNIQUE (uuid)
);
CREATE TABLE container (
	id INTEGER NOT NULL,
	project_id VARCHAR(255),
	user_id VARCHAR(255),
	uuid VARCHAR(36),
	name VARCHAR(255),
	image VARCHAR(255),
	command TEXT,
	status VARCHAR(20),
	environment TEXT,
	container_id VARCHAR(255),
	memory VARCHAR(255),
	task_state VARCHAR(20),
	cpu FLOAT,
	workdir VARCHAR(255),
	ports TEXT,
	hostname VARCHAR(255),
	labels TEXT,
	status_reason TEXT,
	image_pull_policy TEXT,
	addresses TEXT,
	host VARCHAR(255),
	restart_policy TEXT,
	status_detail VARCHAR(50),
	image_driver TEXT,
	interactive BOOLEAN,
	websocket_url VARCHAR(255),
	websocket_token VARCHAR(255),
	security_groups TEXT,
	auto_remove BOOLEAN,
	runtime VARCHAR(32),
	disk INTEGER,
	auto_heal BOOLEAN,
	capsule_id INTEGER,
	started_at DATETIME,
	privileged BOOLEAN,
	healthcheck TEXT,
	exposed_ports TEXT,
	cpu_policy VARCHAR(255),
	cpuset TEXT,
	registry_id INTEGER,
	container_type INTEGER DEFAULT '0',
	tty BOOLEAN,
	annotations TEXT,
	cni_metadata TEXT,
	entrypoint TEXT,
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id),
	FOREIGN KEY(capsule_id) REFERENCES container (id) ON DELETE CASCADE,
	FOREIGN KEY(registry_id) REFERENCES registry (id),
	CONSTRAINT uniq_container0uuid UNIQUE (uuid)
);
CREATE INDEX capsule_id ON container (capsule_id);
CREATE INDEX ix_container_container_type ON container (container_type);
CREATE INDEX registry_id ON container (registry_id);
CREATE TABLE exec_instance (
	id INTEGER NOT NULL,
	container_id INTEGER NOT NULL,
	exec_id VARCHAR(255) NOT NULL,
	token VARCHAR(255),
	url VARCHAR(255),
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id),
	FOREIGN KEY(container_id) REFERENCES container (id) ON DELETE CASCADE,
	CONSTRAINT uniq_exec_instance0container_id_exec_id UNIQUE (container_id, exec_id)
);
CREATE TABLE container_actions (
	id INTEGER NOT NULL,
	action VARCHAR(255),
	container_uuid VARCHAR(36) NOT NULL,
	request_id VARCHAR(255),
	user_id VARCHAR(255),
	project_id VARCHAR(255),
	start_time DATETIME,
	finish_time DATETIME,
	message VARCHAR(255),
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id),
	FOREIGN KEY(container_uuid) REFERENCES container (uuid) ON DELETE CASCADE
);
CREATE INDEX container_uuid_idx ON container_actions (container_uuid);
CREATE INDEX request_id_idx ON container_actions (request_id);
CREATE TABLE container_actions_events (
	id INTEGER NOT NULL,
	event VARCHAR(255),
	action_id INTEGER NOT NULL,
	start_time DATETIME,
	finish_time DATETIME,
	result VARCHAR(255),
	traceback TEXT,
	details TEXT,
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id),
	FOREIGN KEY(action_id) REFERENCES container_actions (id) ON DELETE CASCADE
);
CREATE INDEX action_id ON container_actions_events (action_id);
CREATE TABLE volume (
	id INTEGER NOT NULL,
	uuid VARCHAR(36) NOT NULL,
	project_id VARCHAR(255),
	user_id VARCHAR(255),
	cinder_volume_id VARCHAR(36),
	volume_provider VARCHAR(36) NOT NULL,
	connection_info TEXT,
	host VARCHAR(255),
	auto_remove BOOLEAN,
	contents TEXT,
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id),
	CONSTRAINT uniq_volume0uuid UNIQUE (uuid)
);
CREATE TABLE volume_mapping (
	id INTEGER NOT NULL,
	uuid VARCHAR(36) NOT NULL,
	project_id VARCHAR(255),
	user_id VARCHAR(255),
	container_uuid VARCHAR(36),
	container_path VARCHAR(255),
	volume_id INTEGER NOT NULL,
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id),
	FOREIGN KEY(container_uuid) REFERENCES container (uuid),
	FOREIGN KEY(volume_id) REFERENCES volume (id) ON DELETE CASCADE,
	CONSTRAINT uniq_volume0uuid UNIQUE (uuid)
);
CREATE INDEX container_uuid ON volume_mapping (container_uuid);
CREATE INDEX volume_id ON volume_mapping (volume_id);
CREATE TABLE image (
	id INTEGER NOT NULL,
	project_id VARCHAR(255),
	user_id VARCHAR(255),
	uuid VARCHAR(36),
	image_id VARCHAR(255),
	repo VARCHAR(255),
	tag VARCHAR(255),
	size VARCHAR(255),
	host VARCHAR(255),
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id),
	CONSTRAINT uniq_image0repotaghost UNIQUE (repo, tag, host)
);
CREATE TABLE network (
	id INTEGER NOT NULL,
	project_id VARCHAR(255),
	user_id VARCHAR(255),
	name VARCHAR(255),
	uuid VARCHAR(36),
	network_id VARCHAR(255),
	neutron_net_id VARCHAR(255),
	host VARCHAR(255),
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id),
	CONSTRAINT uniq_network0neutron_net_id_host UNIQUE (neutron_net_id, host),
	CONSTRAINT uniq_network0uuid UNIQUE (uuid)
);
CREATE TABLE quotas (
	id INTEGER NOT NULL,
	project_id VARCHAR(255),
	resource VARCHAR(255) NOT NULL,
	hard_limit INTEGER,
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id)
);
CREATE INDEX ix_quotas_project_id ON quotas (project_id);
CREATE TABLE quota_classes (
	id INTEGER NOT NULL,
	class_name VARCHAR(255),
	resource VARCHAR(255),
	hard_limit INTEGER,
	created_at DATETIME,
	updated_at DATETIME,
	PRIMARY KEY (id)
);
CREATE INDEX quota_classes_class_name_idx ON quota_classes (class_name);
CREATE TABLE quota_usages (
	created_at DATETIME,
	updated_at DATETIME,
	id INTEGER NOT NULL,
	project_id VARCHAR(255),
	resource VARCHAR(255) NOT NULL,
	in_use INTEGER NOT NULL,
	reserved INTEGER NOT NULL,
	until_refresh INTEGER
);
CREATE INDEX ix_quota_usages_project_id ON quota_usages (project_id);
CREATE TABLE resource_provider (
	created_at DATETIME,
	updated_at DATETIME,
	id INTEGER NOT NULL,
	uuid VARCHAR(36) NOT NULL,
	name VARCHAR(255) NOT NULL,
	root_provider VARCHAR(36) NOT NULL,
	parent_provider VARCHAR(36),
	can_host INTEGER,
	PRIMARY KEY (id),
	CONSTRAINT uniq_resource_provider0uuid UNIQUE (uuid)
);
CREATE TABLE resource_class (
	created_at DATETIME,
	updated_at DATETIME,
	id INTEGER NOT NULL,
	name VARCHAR(255) NOT NULL,
	uuid VARCHAR(36) NOT NULL,
	PRIMARY KEY (id),
	CONSTRAINT uniq_resource_class0uuid UNIQUE (uuid)
);
CREATE TABLE inventory (
	created_at DATETIME,
	updated_at DATETIME,
	id INTEGER NOT NULL,
	resource_provider_id INTEGER NOT NULL,
	resource_class_id INTEGER NOT NULL,
	total INTEGER NOT NULL,
	reserved INTEGER NOT NULL,
	min_unit INTEGER NOT NULL,
	max_unit INTEGER NOT NULL,
	step_size INTEGER NOT NULL,
	is_nested INTEGER NOT NULL,
	allocation_ratio FLOAT NOT NULL,
	blob TEXT,
	PRIMARY KEY (id),
	CONSTRAINT uniq_inventory0resource_provider_resource_class UNIQUE (resource_provider_id, resource_class_id)
);
CREATE INDEX inventory_resource_class_id_idx ON inventory (resource_class_id);
CREATE INDEX inventory_resource_provider_id_idx ON inventory (resource_provider_id);
CREATE INDEX inventory_resource_provider_resource_class_idx ON inventory (resource_provider_id, resource_class_id);
CREATE TABLE allocation (
	created_at DATETIME,
	updated_at DATETIME,
	id INTEGER NOT NULL,
	resource_provider_id INTEGER NOT NULL,
	resource_class_id INTEGER NOT NULL,
	used INTEGER NOT NULL,
	is_nested INTEGER NOT NULL,
	consumer_id VARCHAR(36) NOT NULL,
	blob TEXT,
	PRIMARY KEY (id)
);
CREATE INDEX allocation_consumer_id_idx ON allocation (consumer_id);
CREATE INDEX allocation_resource_class_id_idx ON allocation (resource_class_id);
CREATE INDEX allocation_resource_provider_class_used_idx ON allocation (resource_provider_id, resource_class_id, used);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES ('3f2b36231bee');
