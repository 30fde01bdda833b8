import { afterAll } from 'vitest';
import { playAttacks } from '../stage/attack.ts';
import { agentWaitAttacks } from './agent-waits.ts';
import { waitAttacks } from './waits.ts';
import { closeServiceStage } from '../stage/service-stage.ts';
import { closeSetupStage } from '../stage/setup-stage.ts';

afterAll(closeServiceStage);
afterAll(closeSetupStage);
playAttacks([...waitAttacks, ...agentWaitAttacks]);
