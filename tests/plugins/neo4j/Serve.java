import java.nio.file.Path;
import java.util.Map;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.connectors.ConnectorPortRegister;
import org.neo4j.configuration.connectors.ConnectorType;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.kernel.internal.GraphDatabaseAPI;

/** Serves a database in FOLDER for user neo4j with PASSWORD, prints its Bolt port, and ends with its standard input. */
public class Serve {
    public static void main(String[] args) throws Exception {
        var server = new DatabaseManagementServiceBuilder(Path.of(args[0]))
            .setConfig(BoltConnector.enabled, true)
            .setConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", 0))
            .setConfig(GraphDatabaseSettings.auth_enabled, true)
            .build();
        server.database("system").executeTransactionally(
            "ALTER USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED", Map.of("password", args[1]));
        var database = (GraphDatabaseAPI) server.database("neo4j");
        var ports = database.getDependencyResolver().resolveDependency(ConnectorPortRegister.class);
        System.out.println(ports.getLocalAddress(ConnectorType.BOLT).getPort());
        System.out.flush();
        while (System.in.read() >= 0) {}
        server.shutdown();
    }
}
