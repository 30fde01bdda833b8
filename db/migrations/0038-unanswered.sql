-- unhelpful answers: the documentation had nothing, or a reader voted the answer down
create table unanswered_messages (
  thread_id text not null,
  message_id text not null,
  site_id text not null references sites (id) on delete cascade,
  position bigint not null,
  created_at timestamptz not null,
  primary key (thread_id, message_id),
  foreign key (thread_id, message_id) references thread_messages (thread_id, id) on delete cascade
);
create index on unanswered_messages (site_id, created_at desc, position desc);

create function note_unanswered() returns trigger
language plpgsql
as $$
begin
  insert into unanswered_messages (thread_id, message_id, site_id, position, created_at)
  select new.thread_id, new.id, site_id, new.position, new.created_at from threads where id = new.thread_id;
  return null;
end
$$;
create trigger note_unanswered after insert on thread_messages for each row
when (new.role = 'assistant' and new.answered = false and new.ending = 'finished') execute function note_unanswered();

create function note_vote() returns trigger
language plpgsql
as $$
begin
  if new.vote = 'down' then
    insert into unanswered_messages (thread_id, message_id, site_id, position, created_at)
    select thread_id, answer.id, site_id, position, answer.created_at
    from thread_messages as answer join threads on threads.id = thread_id
    where thread_id = new.thread_id and answer.id = new.message_id and role = 'assistant'
    on conflict do nothing;
  else
    delete from unanswered_messages using thread_messages as answer
    where unanswered_messages.thread_id = new.thread_id and message_id = new.message_id
      and answer.thread_id = new.thread_id and answer.id = new.message_id
      and (answer.answered = false and answer.ending = 'finished') is not true;
  end if;
  return null;
end
$$;
create trigger note_vote after insert or update of vote on message_feedback for each row execute function note_vote();

insert into unanswered_messages (thread_id, message_id, site_id, position, created_at)
select thread_id, answer.id, site_id, position, answer.created_at
from (
  select * from thread_messages where role = 'assistant' and answered = false and ending = 'finished'
  union
  select answer.* from thread_messages as answer join message_feedback as feedback
    on feedback.thread_id = answer.thread_id and message_id = answer.id
  where vote = 'down' and role = 'assistant'
) as answer join threads on threads.id = thread_id;
