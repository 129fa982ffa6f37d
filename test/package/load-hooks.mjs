// For a child process: `loadedModules()` tells what it loaded, and with an argument, the first import whose
// specifier contains it fails as when no file can be opened.
import { registerHooks } from 'node:module'

const loaded = new Set()
const [, , failing] = process.argv
let hasFailed = failing === undefined

registerHooks({
  resolve(specifier, context, next) {
    if (!hasFailed && specifier.includes(failing)) {
      hasFailed = true
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    }
    const found = next(specifier, context)
    if (!found.url.startsWith('node:')) loaded.add(found.url)
    return found
  },
})

globalThis.loadedModules = () => [...loaded]
