/** An MCP server that cannot be used. The message completes "The MCP server x …" and quotes no server. */
export class McpProblem extends Error {
  override name = 'McpProblem';
  /** Last output of a server that runs as a command, for people. */
  readonly detail: string;

  constructor(message: string, { detail = '', ...options }: ErrorOptions & { detail?: string } = {}) {
    super(message, options);
    this.detail = detail;
  }
}

/** An MCP server refused a call, with a code of JSON-RPC. The message is the server's. */
export class McpRefusal extends Error {
  override name = 'McpRefusal';
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}
