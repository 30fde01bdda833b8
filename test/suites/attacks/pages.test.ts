import { playAttacks } from './stage/attack.ts';
import { pageAttacks } from './lists/pages.ts';

playAttacks(pageAttacks);
