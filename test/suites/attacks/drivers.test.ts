import { playAttacks } from './attack.ts';
import { driverAttacks } from './lists/drivers.ts';

playAttacks(driverAttacks);
