import { playAttacks } from './stage/attack.ts';
import { sshAttacks } from './lists/ssh.ts';

playAttacks(sshAttacks);
