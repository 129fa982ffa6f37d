// A CommonJS host: require() gives the same classes as import.
import postern = require('postern')
import memoryBackend = require('postern/memory')

const error: Error = new postern.AuthError('unauthorized')
const backend = memoryBackend.memory()

async function main(): Promise<void> {
  const imported = await import('postern')
  console.log(
    JSON.stringify({
      createAuth: typeof postern.createAuth,
      backend: typeof backend.store.collection,
      sameClass: error instanceof imported.AuthError,
    }),
  )
}

void main()
