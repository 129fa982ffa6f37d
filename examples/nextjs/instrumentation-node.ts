import { startedAuth } from './auth.ts'

// A wrong option or a missing key ends the start, not a request.
const auth = await startedAuth()

// Next.js stops its server by itself, and ends the process when the last request was answered.
process.once('SIGTERM', () => {
  auth.close().then(() => console.log('Closed.'), console.error)
})
