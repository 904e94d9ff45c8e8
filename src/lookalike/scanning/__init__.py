"""A folder of files at work: what each is about, which are copies, versions and relatives of each other."""
