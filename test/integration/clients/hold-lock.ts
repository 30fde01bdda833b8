import { acquireLock } from '../../../lib/file-lock.ts';

// Takes a lock in its own process and keeps it until that process is killed
const [path = ''] = process.argv.slice(2);
await acquireLock(path, {});
process.stdout.write('held\n');
setInterval(() => {}, 1000);
