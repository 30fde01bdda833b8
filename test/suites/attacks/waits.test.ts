import { afterAll } from 'vitest';
import { playAttacks } from './attack.ts';
import { agentWaitAttacks } from './lists/agent-waits.ts';
import { waitAttacks } from './lists/waits.ts';
import { closeServiceStage } from './service-stage.ts';
import { closeSetupStage } from './setup-stage.ts';

afterAll(closeServiceStage);
afterAll(closeSetupStage);
playAttacks([...waitAttacks, ...agentWaitAttacks]);
