import { APICallError } from 'ai';
import { describe, expect, it } from 'vitest';
import { isContextOverflow, ModelCallError } from '../../../../activities/model/model-failures.ts';

function refusal(statusCode: number, message: string): ModelCallError {
  const cause = new APICallError({ message, statusCode, url: 'https://model.test', requestBodyValues: {} });
  return new ModelCallError('The model call failed.', { cause, model: 'compatible/x' });
}

describe('a conversation that is too long', () => {
  it.each([
    [400, 'prompt is too long: 213462 tokens > 200000 maximum'],
    [400, 'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length'],
    [400, 'Your input exceeds the context window of this model. Please adjust your input and try again.'],
    [400, 'Input tokens exceed the configured limit of 272000 tokens. Please reduce the length of the messages.'],
    [400, 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).'],
    [400, "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens."],
    [400, 'The decoder prompt (length 40960) is longer than the maximum model length of 32768.'],
    [400, 'the request exceeds the available context size, try increasing it'],
    [400, 'prompt too long; exceeded max context length by 4 tokens'],
    [400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    [400, 'Invalid request: Your request exceeded model token limit: 262144'],
    [400, 'Input is too long for requested model.'],
    [400, 'prompt token count of 168000 exceeds the limit of 128000'],
    [422, 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32768.'],
    [413, 'Request Entity Too Large'],
  ])('is recognized by status %i and %j', (status, message) => {
    expect(isContextOverflow(refusal(status, message))).toBe(true);
  });

  it.each([
    [400, 'max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for the model'],
    [400, 'Your credit balance is too low to access the Anthropic API.'],
    [400, "Unsupported parameter: 'max_tokens' is not supported with this model."],
    [429, 'Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 35000.'],
  ])('is not what status %i means with %j', (status, message) => {
    expect(isContextOverflow(refusal(status, message))).toBe(false);
  });
});
