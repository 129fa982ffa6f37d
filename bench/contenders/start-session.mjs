// Makes Postern's tables and one session in them; its answer is the access token.
import { contender } from './contender.mjs'
import { poolOf } from './shared/database.mjs'
import { authOn, backendOf, signIn } from './shared/postern.mjs'

contender({
  async start({ postgres, key }) {
    const pool = poolOf(postgres)
    const backend = await backendOf({ store: 'postgres', pool })
    // The session's token has to last for the whole run.
    const auth = await authOn({ backend, key }, { settings: { accessTokenTTL: '24h' } })
    const { accessToken } = await signIn(auth, 'start@example.test')
    await auth.close()
    await pool.end()
    return accessToken
  },
})
