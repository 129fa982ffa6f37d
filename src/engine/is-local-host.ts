const localHosts = /^(?:localhost|127\.0\.0\.1|\[::1\]|(?:[a-z0-9-]+\.)+localhost)$/

/** Whether the name of a host, as a URL has it, is this machine's own: there `http:` may do. */
export function isLocalHost(hostname: string): boolean {
  return localHosts.test(hostname)
}
