import { EventEmitter } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { expect, it, onTestFinished, vi } from 'vitest'

const second = 1000
const page = readFileSync(new URL('../../docs/server-rendered.md', import.meta.url), 'utf8')

/** What is done by a `WebSocket` of `ws`, of a client that goes on to send and never answers a close. */
class DeafClient extends EventEmitter {
  closedWith: number | null = null
  #isOpen = true
  close(code: number): void {
    this.closedWith ??= code
    setTimeout(() => this.terminate(), 30 * second)
  }
  terminate(): void {
    if (this.#isOpen) this.emit('close')
    this.#isOpen = false
  }
  sends(text: string): void {
    if (this.#isOpen) this.emit('message', text)
  }
}

type Watch = (session: { recheck(): Promise<object | null> }, ws: DeafClient) => void

/** The function of the page, as it stands there. */
async function watchOfThePage(): Promise<Watch> {
  const [code = ''] = /^function watch\(.*?(?=^```)/ms.exec(page) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'postern-sample-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'watch.mjs')
  const target = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext }
  const source = `${code}\nexport { watch }`
  writeFileSync(path, ts.transpileModule(source, { compilerOptions: target }).outputText)
  const { watch }: { watch: Watch } = await import(/* @vite-ignore */ pathToFileURL(path).href)
  return watch
}

/** A client that sends a message a second, with what the host hears of it and when it is closed. */
async function watched(recheck: () => Promise<object | null>) {
  const watch = await watchOfThePage()
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const start = Date.now()
  const since = () => Math.round((Date.now() - start) / second)
  const ws = new DeafClient()
  const seen = { heard: 0, closed: 0 }
  ws.on('message', () => {
    seen.heard = since()
  })
  ws.on('close', () => {
    seen.closed = since()
  })
  watch({ recheck }, ws)
  const sending = setInterval(() => ws.sends('more'), second)
  await vi.advanceTimersByTimeAsync(200 * second)
  clearInterval(sending)
  return { ...seen, code: ws.closedWith }
}

it('the sample for WebSockets hears nothing more of a session that ended', async () => {
  let asked = 0
  const seen = await watched(async () => {
    asked += 1
    return asked < 3 ? {} : null
  })
  expect(seen).toMatchObject({ code: 4401, closed: 46 })
  expect(seen.heard).toBeLessThanOrEqual(45)
  expect(asked).toBe(3)
})

it('the sample for WebSockets closes where the store does not answer', async () => {
  let asked = 0
  const seen = await watched(async () => {
    asked += 1
    if (asked === 1) return {}
    throw new Error('down')
  })
  expect(seen).toMatchObject({ code: 4503, closed: 76 })
  expect(seen.heard).toBeLessThanOrEqual(75)
  expect(asked).toBe(5)
})
