import { afterAll } from 'vitest';
import { playAttacks } from './attack.ts';
import { layerAttacks } from './lists/layers.ts';
import { setupAttacks } from './lists/setups.ts';
import { closeSetupStage } from './setup-stage.ts';

afterAll(closeSetupStage);
playAttacks([...setupAttacks, ...layerAttacks]);
