import { afterAll } from 'vitest';
import { playAttacks } from './attack.ts';
import { closeSandbox } from './in-sandbox.ts';
import { descriptionAttacks } from './lists/descriptions.ts';
import { closeSetupStage } from './setup-stage.ts';

afterAll(closeSandbox);
afterAll(closeSetupStage);
playAttacks(descriptionAttacks);
