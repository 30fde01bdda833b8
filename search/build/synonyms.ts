import { termOf } from './words.ts';

// Groups of words that documentation and its readers use for the same thing.
const groups = `
delete remove erase destroy drop
create add make new
change modify edit update alter
auth authentication authenticate authorization login signin
config configuration configure setting settings
repo repository
env environment
doc docs documentation
param parameter argument arg
directory folder dir
error failure fail exception
install setup
start launch run execute
stop halt terminate kill
show display list view print
fetch retrieve download
copy duplicate
limit quota maximum max
image picture
app application
dependency dependencies requirement
id identifier
begin start
credential secret
hide hidden conceal
price pricing cost
analytics statistics metrics
host hosting deploy deployment
compress archive
convert transform
search find
move rename
size length
fast speed performance
bug issue problem
allow permit enable
disable deactivate
`;

const meanings = new Map<string, Set<string>>();
for (const line of groups.trim().split('\n')) {
  const terms = line.split(' ').map((word) => termOf(word));
  for (const term of terms)
    meanings.set(term, new Set([...(meanings.get(term) ?? []), ...terms.filter((other) => other !== term)]));
}

/** Returns terms with about the same meaning; empty for most terms. */
export function sameMeaning(term: string): string[] {
  return [...(meanings.get(term) ?? [])];
}
