import { afterAll } from 'vitest';
import { playAttacks } from '../stage/attack.ts';
import { descriptionAttacks } from './descriptions.ts';
import { closeSetupStage } from '../stage/setup-stage.ts';

afterAll(closeSetupStage);
playAttacks(descriptionAttacks);
