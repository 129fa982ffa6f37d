import type { Reply } from '../hosts/http-client.js'

/** What has to stay where it belongs, as a test comes to know of it. */
export interface Secrets {
  keep(...values: readonly string[]): void
  /** The tokens a reply hands out, in its body and its cookies. */
  keepTokensOf(reply: Reply): void
  readonly values: readonly string[]
  /** Those that occur in a text, plain or in a usual encoding. */
  foundIn(text: string): readonly string[]
}

const tokenMembers = ['accessToken', 'refreshToken', 'passwordToken', 'recognitionId', 'signInKey']

export function secretsOf(...first: readonly string[]): Secrets {
  const values = new Set(first)
  const keep = (...more: readonly string[]): void => {
    for (const value of more) {
      if (value.length < 8) throw new Error(`"${value}" is too short to be searched for`)
      values.add(value)
    }
  }
  /** Whoever has the signature of a token has the token: the rest can be guessed. */
  const keepToken = (token: string): void => keep(token, token.slice(token.lastIndexOf('.') + 1))
  return {
    keep,
    keepTokensOf(reply) {
      for (const cookie of reply.setCookies) {
        const [, name = '', value] = /^([^=]+)=([^;]+);/.exec(cookie) ?? []
        // The marker of a session is public.
        if (value !== undefined && !name.endsWith('_signed_in')) keepToken(value)
      }
      if (reply.status >= 300 || reply.status === 204) return
      const body = reply.json()
      for (const member of tokenMembers) {
        const token = body[member]
        if (typeof token === 'string') keepToken(token)
      }
    },
    get values() {
      return [...values]
    },
    foundIn: (text) =>
      [...values].filter((value) => {
        const bytes = Buffer.from(value)
        const json = JSON.stringify(value).slice(1, -1)
        // Without what the last bits of base64 make of the end of the value.
        const base64 = bytes.toString('base64').replace(/.=*$/, '')
        return [value, json, bytes.toString('hex'), base64].some((form) => text.includes(form))
      }),
  }
}

/** What stands around the first match, for a failure's message; null when there is none. */
export function excerpt(text: string, pattern: RegExp | string): string | null {
  const at = typeof pattern === 'string' ? text.indexOf(pattern) : text.search(pattern)
  return at < 0 ? null : text.slice(Math.max(0, at - 100), at + 100)
}
