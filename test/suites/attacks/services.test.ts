import { afterAll } from 'vitest';
import { playAttacks } from './attack.ts';
import { serviceAttacks } from './lists/services.ts';
import { closeServiceStage } from './service-stage.ts';

afterAll(closeServiceStage);
playAttacks(serviceAttacks);
