import { playAttacks } from './attack.ts';
import { sshAttacks } from './lists/ssh.ts';

playAttacks(sshAttacks);
