"""What several levels of tests share: engines, images, contract suites."""
