import { afterAll, beforeAll } from 'vitest';

/** Creates a value before the tests of a file and disposes of it after them. The returned object is empty until then. */
export function ofFile<Value extends object & Partial<AsyncDisposable>>(create: () => Promise<Value>): Value {
  const value = {} as Value;
  beforeAll(async () => {
    Object.defineProperties(value, Object.getOwnPropertyDescriptors(await create()));
  });
  afterAll(() => value[Symbol.asyncDispose]?.());
  return value;
}
