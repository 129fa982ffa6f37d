import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * Speaks MongoDB's wire protocol and keeps everything in memory. Takes the port to listen on, 0 for
 * any free one; prints the one it took; stops when its input ends, so it never outlives a test run.
 */
public final class StandIn {
  public static void main(String[] args) throws Exception {
    MongoServer server = new MongoServer(new Backend().version(new Version()));
    server.bind(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
    System.out.println(server.getLocalAddress().getPort());
    while (System.in.read() >= 0) {}
    server.shutdownNow();
  }

  /**
   * One command at a time, answered with copies. The library answers with the documents it keeps,
   * which the next command may have changed before they are sent.
   */
  private static final class Backend extends MemoryBackend {
    @Override
    public synchronized Document handleMessage(MongoMessage message) {
      return super.handleMessage(message).cloneDeeply();
    }
  }

  /** The library's own 5.0 announces the protocol of 4.2, which current drivers refuse. */
  private static final class Version implements MongoVersion {
    @Override
    public List<Integer> getVersionArray() {
      return List.of(5, 0, 0);
    }

    @Override
    public int getWireVersion() {
      return 13;
    }
  }
}
