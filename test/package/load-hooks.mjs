// For a child process: `loadedModules()` tells what it loaded, `localised()` how often it wrote a number, a date or a
// plural for a language. With an argument, the first import whose
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

let count = 0
const counted = (make) =>
  new Proxy(make, {
    apply(target, self, args) {
      count += 1
      return Reflect.apply(target, self, args)
    },
    construct(target, args, newTarget) {
      count += 1
      return Reflect.construct(target, args, newTarget)
    },
  })
for (const kind of ['Collator', 'DateTimeFormat', 'NumberFormat', 'PluralRules', 'Segmenter']) {
  Intl[kind] = counted(Intl[kind])
}
for (const { prototype } of [Number, Date, Array]) {
  prototype.toLocaleString = counted(prototype.toLocaleString)
}
globalThis.localised = () => count
