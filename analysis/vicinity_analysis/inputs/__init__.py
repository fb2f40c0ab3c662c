"""What is read: records of the machines, numbers of the papers."""
