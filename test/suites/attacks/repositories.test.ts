import { playAttacks } from './attack.ts';
import { repositoryAttacks } from './lists/repositories.ts';

playAttacks(repositoryAttacks);
