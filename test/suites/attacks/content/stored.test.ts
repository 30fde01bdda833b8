import { afterAll } from 'vitest';
import { playAttacks } from '../stage/attack.ts';
import { storedAttacks } from './stored.ts';
import { closeServiceStage } from '../stage/service-stage.ts';

afterAll(closeServiceStage);
playAttacks(storedAttacks);
