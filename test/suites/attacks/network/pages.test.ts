import { playAttacks } from '../stage/attack.ts';
import { pageAttacks } from './pages.ts';

playAttacks(pageAttacks);
