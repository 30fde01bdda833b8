import { afterAll } from 'vitest';
import { playAttacks } from './attack.ts';
import { storedAttacks } from './lists/stored.ts';
import { closeServiceStage } from './service-stage.ts';

afterAll(closeServiceStage);
playAttacks(storedAttacks);
