import { afterAll } from 'vitest';
import { playAttacks } from './stage/attack.ts';
import { layerAttacks } from './lists/layers.ts';
import { setupAttacks } from './lists/setups.ts';
import { closeSetupStage } from './stage/setup-stage.ts';

afterAll(closeSetupStage);
playAttacks([...setupAttacks, ...layerAttacks]);
