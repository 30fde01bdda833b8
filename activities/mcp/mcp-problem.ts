/** An MCP server that cannot be used. The message completes "The MCP server x …" and quotes no server. */
export class McpProblem extends Error {
  override name = 'McpProblem';
}
