import { playAttacks } from './stage/attack.ts';
import { repositoryAttacks } from './lists/repositories.ts';

playAttacks(repositoryAttacks);
