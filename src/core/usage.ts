/** What model and tool calls took, counted. No zod here: the page counts with it too. */
export interface Usage {
  model_calls: number;
  tool_calls: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  measured: boolean;
  cost_usd: number | null;
}
export const NO_USAGE: Usage = {
  model_calls: 0,
  tool_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  measured: true,
  cost_usd: null,
};
