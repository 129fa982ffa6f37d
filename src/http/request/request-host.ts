/** The host of a request or of an option. */
export interface RequestHost {
  /** In lower case, without the dot of the root; brackets around an IPv6 address. */
  readonly name: string
  /** Empty where none was named. */
  readonly port: string
}

/** Name or address, the dot of the root, and a port, which may be empty (RFC 9110 §7.2). */
const hostForm = /^(\[[\da-f:.]+\]|[a-z0-9_](?:[\w.-]*[\w-])?)\.?(?::(\d{0,5}))?$/

/** Null for a text that names no host. */
export function readHost(text: string | undefined): RequestHost | null {
  const [, name, port = ''] = hostForm.exec(text?.trim().toLowerCase() ?? '') ?? []
  return name === undefined ? null : { name, port }
}
