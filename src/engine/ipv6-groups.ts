/** The eight groups of an IPv6 address in lower-case hexadecimal without leading zeros. */
export function ipv6Groups(ip: string): readonly string[] {
  const [head = '', tail] = ip.replace(/(?:\d{1,3}\.){3}\d{1,3}$/, asGroups).split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...new Array<string>(Math.max(0, missing)).fill('0'), ...right]
  return groups.map((group) => Number.parseInt(group, 16).toString(16))
}

/** IPv6 addresses may end in an IPv4 address, which stands for two groups (RFC 4291 §2.2). */
function asGroups(dotted: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}
