import { createServer, type RequestListener } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { type HttpClient, httpClient, requestBytes } from '../../bench/harness/http-client.js'

let undo: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each()
  undo = []
})

async function clientOf(listener: RequestListener): Promise<HttpClient> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const client = httpClient(address && typeof address === 'object' ? address.port : 0)
  undo.push(async () => {
    client.close()
    await new Promise((resolve) => server.close(resolve))
  })
  return client
}

it('a slice sends as many requests as it was told, no more at a time than connections', async () => {
  let underWay = 0
  let most = 0
  const sockets = new Set<unknown>()
  const client = await clientOf((request, response) => {
    underWay += 1
    most = Math.max(most, underWay)
    sockets.add(request.socket)
    setImmediate(() => {
      underWay -= 1
      response.end(`reply to ${request.url}`)
    })
  })
  const seen: string[] = []
  const slice = {
    requests: 50,
    connections: 4,
    next: (_: number, request: number) => requestBytes('GET', `/${request}`),
    seen: ({ status, body }: { status: number; body: Buffer }) => seen.push(`${status} ${body}`),
  }
  const { milliseconds } = await client.slice(slice)
  await client.slice(slice)
  expect(milliseconds).toHaveLength(50)
  expect(seen).toHaveLength(100)
  expect(new Set(seen).size).toBe(50)
  expect(seen).toContain('200 reply to /49')
  expect([most <= 4, sockets.size]).toEqual([true, 4])
})

it.each([
  ['in chunks', [' ', 'one 0\r\n', 'two'], undefined],
  ['empty, in chunks', [], undefined],
  ['of a stated length', ['one ', 'two'], 7],
])('replies that are %s are read to their end', async (_, parts, length) => {
  const client = await clientOf((_request, response) => {
    response.writeHead(200, length === undefined ? {} : { 'content-length': length })
    response.flushHeaders()
    const write = (index: number): void => {
      const part = parts[index]
      if (part === undefined) response.end()
      // Two turns of the event loop later, so that the client has read the part before it.
      else response.write(part, () => setImmediate(() => setImmediate(write, index + 1)))
    }
    write(0)
  })
  const seen: string[] = []
  await client.slice({
    requests: 5,
    connections: 1,
    next: () => requestBytes('POST', '/', {}, { a: 1 }),
    seen: ({ body }) => seen.push(body.toString('latin1').replaceAll(/[0-9a-f]+\r\n|\r\n/g, '')),
  })
  expect(seen).toEqual(Array.from({ length: 5 }, () => parts.join('').replaceAll(/0\r\n/g, '')))
})

it('paced requests are sent on time, whether the ones before are answered or not', async () => {
  const held: (() => void)[] = []
  const client = await clientOf((_request, response) => {
    held.push(() => response.end('done'))
    if (held.length === 20) for (const answer of held) answer()
  })
  const times = await client.paced({
    requests: 20,
    rate: 1000,
    next: () => requestBytes('GET', '/'),
  })
  expect(times).toHaveLength(20)
})

it('a connection that the server closes ends the slice with an error', async () => {
  const client = await clientOf((request) => request.socket.destroy())
  await expect(
    client.slice({ requests: 1, connections: 1, next: () => requestBytes('GET', '/') }),
  ).rejects.toThrow()
})
