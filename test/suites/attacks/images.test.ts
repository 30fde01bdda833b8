import { afterAll } from 'vitest';
import { playAttacks } from './attack.ts';
import { closeSandbox } from './in-sandbox.ts';
import { imageAttacks } from './lists/images.ts';

afterAll(closeSandbox);
playAttacks(imageAttacks);
