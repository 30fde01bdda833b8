import { afterAll } from 'vitest';
import { playAttacks } from '../stage/attack.ts';
import { layerAttacks } from './layers.ts';
import { setupAttacks } from './setups.ts';
import { closeSetupStage } from '../stage/setup-stage.ts';

afterAll(closeSetupStage);
playAttacks([...setupAttacks, ...layerAttacks]);
