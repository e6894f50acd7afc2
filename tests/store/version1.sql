BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'hitlab','001_runs','2026-11-22 01:14:11.103881+00:00');
CREATE TABLE blob (sha256 TEXT PRIMARY KEY, mime TEXT NOT NULL, size INTEGER NOT NULL, bytes BLOB NOT NULL);
INSERT INTO "blob" VALUES('1cd153041b3d879295c47092b98f7458eb01d021db67f47e8d7f76d93d8b8ff5','image/png',9,X'89504E470D0A1A0A78');
CREATE TABLE draft (
        n INTEGER PRIMARY KEY,
        trace TEXT NOT NULL REFERENCES trace (id),
        question TEXT NOT NULL,
        at TEXT NOT NULL,
        text TEXT NOT NULL
    );
INSERT INTO "draft" VALUES(1,'t1','q1','2026-11-22T01:14:11.106064+00:00','half a wo');
CREATE TABLE event (
        trace TEXT NOT NULL REFERENCES trace (id),
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        at TEXT NOT NULL,
        ms REAL,
        question INTEGER NOT NULL,
        reply INTEGER NOT NULL,
        status TEXT,
        score REAL,
        body TEXT NOT NULL,
        PRIMARY KEY (trace, seq)
    );
INSERT INTO "event" VALUES('t1',0,'started','2026-01-01T00:00:00.000000+00:00',NULL,0,0,NULL,NULL,'{"event":"started","trace":"t1","task":{"id":"lunch","kind":"general","instruction":"Order lunch."},"agent":{"kind":"script","id":"rule"},"seq":0,"at":"2026-01-01T00:00:00.000000+00:00"}');
INSERT INTO "event" VALUES('t1',1,'step','',NULL,0,0,NULL,NULL,'{"event":"step","index":0,"proposed":{"action":{"kind":"click","at":[1,2]},"thought":"I tap."},"before":{"image":"1cd153041b3d879295c47092b98f7458eb01d021db67f47e8d7f76d93d8b8ff5","size":[10,20]},"seq":1}');
INSERT INTO "event" VALUES('t1',2,'ended','',NULL,0,0,'completed',1.0,'{"event":"ended","status":"completed","score":1.0,"seq":2}');
CREATE TABLE trace (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        task TEXT NOT NULL,
        kind TEXT NOT NULL,
        agent TEXT NOT NULL,
        persona TEXT,
        user TEXT,
        device TEXT NOT NULL,
        seat TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        parent TEXT,
        source TEXT,
        source_path TEXT,
        started_at TEXT NOT NULL
    );
INSERT INTO "trace" VALUES(1,'t1','lunch','general','rule',NULL,NULL,'unknown','developer',1,NULL,NULL,NULL,'2026-01-01T00:00:00.000000+00:00');
CREATE TABLE use (
        trace TEXT NOT NULL REFERENCES trace (id),
        sha256 TEXT NOT NULL,
        PRIMARY KEY (trace, sha256)
    ) WITHOUT ROWID;
INSERT INTO "use" VALUES('t1','1cd153041b3d879295c47092b98f7458eb01d021db67f47e8d7f76d93d8b8ff5');
CREATE TABLE verdict (
        trace TEXT NOT NULL REFERENCES trace (id),
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (trace, position)
    );
INSERT INTO "verdict" VALUES('t1',0,'success','{"name":"success","value":true}');
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX trace_by_task ON trace (task, id);
CREATE INDEX event_tally ON event (trace, kind, seq, question, reply, status, score);
CREATE INDEX use_by_blob ON use (sha256, trace);
CREATE INDEX draft_by_question ON draft (trace, question, n);
CREATE TRIGGER trace_no_update BEFORE UPDATE ON trace BEGIN SELECT RAISE(ABORT, 'trace is append-only'); END;
CREATE TRIGGER trace_no_delete BEFORE DELETE ON trace BEGIN SELECT RAISE(ABORT, 'trace is append-only'); END;
CREATE TRIGGER event_no_update BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
CREATE TRIGGER event_no_delete BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
CREATE TRIGGER blob_no_update BEFORE UPDATE ON blob BEGIN SELECT RAISE(ABORT, 'blob is append-only'); END;
CREATE TRIGGER blob_no_delete BEFORE DELETE ON blob BEGIN SELECT RAISE(ABORT, 'blob is append-only'); END;
CREATE TRIGGER use_no_update BEFORE UPDATE ON use BEGIN SELECT RAISE(ABORT, 'use is append-only'); END;
CREATE TRIGGER use_no_delete BEFORE DELETE ON use BEGIN SELECT RAISE(ABORT, 'use is append-only'); END;
CREATE TRIGGER verdict_no_update BEFORE UPDATE ON verdict BEGIN SELECT RAISE(ABORT, 'verdict is append-only'); END;
CREATE TRIGGER verdict_no_delete BEFORE DELETE ON verdict BEGIN SELECT RAISE(ABORT, 'verdict is append-only'); END;
CREATE TRIGGER draft_no_update BEFORE UPDATE ON draft BEGIN SELECT RAISE(ABORT, 'draft is append-only'); END;
CREATE TRIGGER draft_no_delete BEFORE DELETE ON draft BEGIN SELECT RAISE(ABORT, 'draft is append-only'); END;
COMMIT;
PRAGMA application_id = 1751741548;
PRAGMA user_version = 1;
