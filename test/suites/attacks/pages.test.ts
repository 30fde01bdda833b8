import { playAttacks } from './attack.ts';
import { pageAttacks } from './lists/pages.ts';

playAttacks(pageAttacks);
