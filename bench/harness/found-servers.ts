import { type FoundPostgres, findPostgres } from '../../test/support/stores/postgres.js'
import { type FoundRedis, findRedis } from '../../test/support/stores/redis.js'
import { postgresFacts } from './postgres-database.js'
import { redisVersion } from './redis-prefix.js'

/** The servers of a run; each is null where there is none. */
export interface FoundServers {
  readonly postgres: FoundPostgres | null
  readonly redis: FoundRedis | null
  /** As the page names them. */
  readonly postgresText: string | null
  readonly redisText: string | null
  release(): Promise<void>
}

/** Looks where the tests look. A Postgres that is started for the run is durable, unlike the tests'. */
export async function findServers(): Promise<FoundServers> {
  const postgres = await findPostgres(process.env['POSTGRES_URL'], { durable: true })
  const redis = await findRedis()
  return {
    postgres,
    redis,
    postgresText: postgres && (await postgresText(postgres)),
    redisText: redis && (await redisVersion(redis)),
    async release() {
      await postgres?.release()
      await redis?.release()
    },
  }
}

async function postgresText(found: FoundPostgres): Promise<string> {
  const { version, fsync, sharedBuffers } = await postgresFacts(found)
  return `${version} (fsync ${fsync}, shared_buffers ${sharedBuffers})`
}
