import { playAttacks } from '../stage/attack.ts';
import { driverAttacks } from './drivers.ts';

playAttacks(driverAttacks);
