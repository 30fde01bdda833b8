-- the tree that a turn began with, where that is not what the turn before it left: others had changed the branch
alter table job_turns add column first_tree text;
