import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { shelfNamed } from '../test/shelves.js'

/** `npm run test:stores`, `test:browser` and `test:all`: vitest on one shelf, with what else the caller says. */
function main([name = '', ...rest]: readonly string[]): void {
  const shelf = shelfNamed(name)
  const root = new URL('../', import.meta.url)
  const vitest = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', root))
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...rest], {
    cwd: fileURLToPath(root),
    env: { ...process.env, SHELF: shelf },
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
}

main(process.argv.slice(2))
