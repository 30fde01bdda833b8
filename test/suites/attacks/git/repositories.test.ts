import { playAttacks } from '../stage/attack.ts';
import { repositoryAttacks } from './repositories.ts';

playAttacks(repositoryAttacks);
