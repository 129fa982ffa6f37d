import { request } from 'node:http'

export interface NamedReply {
  readonly status: number | undefined
  readonly headers: NodeJS.Dict<string | readonly string[]>
  readonly text: string
}

/**
 * Asks a host by this name, as a browser does that was told that the name is this machine. Not every system
 * knows names below `localhost`, as browsers do.
 */
export function getNamed(url: string, path: string, host?: string): Promise<NamedReply> {
  const { hostname, port } = new URL(url)
  const headers = { host: host ?? `${hostname}:${port}` }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers }, (response) => {
      const { statusCode: status, headers } = response
      const parts: Buffer[] = []
      response.on('data', (part) => parts.push(part))
      response.on('end', () => resolve({ status, headers, text: Buffer.concat(parts).toString() }))
    })
    sent.on('error', reject).end()
  })
}
