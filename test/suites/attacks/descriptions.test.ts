import { afterAll } from 'vitest';
import { playAttacks } from './attack.ts';
import { descriptionAttacks } from './lists/descriptions.ts';
import { closeSetupStage } from './setup-stage.ts';

afterAll(closeSetupStage);
playAttacks(descriptionAttacks);
