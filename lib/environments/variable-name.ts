/** Names that the sandbox or the shell sets, and those that change what a shell runs. */
const reserved =
  /^(?:PATH|HOME|PWD|OLDPWD|SHLVL|IFS|OPTIND|PPID|UID|EUID|GROUPS|BASH.*|SHELLOPTS|ENV|LD_.*|_+|(?:https?|no|all)_proxy|npm_config_(?:https_)?proxy|NODE_(?:CHANNEL_FD|USE_ENV_PROXY)|DOCKET_.*)$/i;

/** Reports whether a project may set an environment variable of this name. */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name) && !reserved.test(name);
}
