import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { afterAll, onTestFinished } from 'vitest'

const executablePath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'chromium'))
  .find((path) => existsSync(path))

/** For `describe.skipIf`; such titles contain the word "chromium", by which CI notices a skip. */
export const isChromiumMissing = executablePath === undefined

const local = ['localhost', '*.localhost', '127.0.0.1']

const switches = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
  // It reaches this machine and nothing else, whatever a page asks for.
  ...[
    '--no-proxy-server',
    `--host-resolver-rules=MAP * ~NOTFOUND, ${local.map((name) => `EXCLUDE ${name}`).join(', ')}`,
  ],
]

/** Debian's Chromium, started when first needed and stopped after the test file that called this. */
export interface Visitors {
  /** Somebody with a browser profile of their own, forgotten at the end of the test. */
  arrive(): Promise<BrowserContext>
}

/** To be called once, at the top of a test file. Pages are kept for Back and Forward only where it is asked for. */
export function visitors({ keepsPages = false } = {}): Visitors {
  let launched: Promise<Browser> | null = null
  afterAll(async () => {
    await (await launched)?.close()
  })
  return {
    async arrive() {
      if (executablePath === undefined) throw new Error('chromium is not installed')
      const ignoreDefaultArgs = keepsPages ? ['--disable-back-forward-cache'] : []
      launched ??= chromium.launch({ executablePath, args: switches, ignoreDefaultArgs })
      // Hosts of tests make their certificates themselves.
      const context = await (await launched).newContext({ ignoreHTTPSErrors: true })
      onTestFinished(() => context.close())
      return context
    },
  }
}
