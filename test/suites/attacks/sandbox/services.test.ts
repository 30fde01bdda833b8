import { afterAll } from 'vitest';
import { playAttacks } from '../stage/attack.ts';
import { serviceAttacks } from './services.ts';
import { closeServiceStage } from '../stage/service-stage.ts';

afterAll(closeServiceStage);
playAttacks(serviceAttacks);
