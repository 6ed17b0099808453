"""Every error states one fact and one remedy under a stable code, so that no traceback is needed to act.

Adapters translate foreign exceptions into these; nothing above an adapter sees ``MilvusException`` or ``httpx``. The
English templates are messages of the catalogue and the parameters are kept, so that a page can say the same error in
another language (:func:`message_of`).

· WorkbenchError
  · AddressNotListed
  · AlreadyServed
  · AppRefused
  · AppUnreachable
  · AttachmentError
    · AttachmentDamaged
    · AttachmentEmpty
    · AttachmentMissing
    · AttachmentTooLarge
    · AttachmentUnsupported
    · AttachmentsNotTaken
    · ImageTooLarge
    · InvalidAttachment
    · ModelCannotSee
    · ReaderMissing
    · ReadingFailed
    · ReadingTimedOut
    · TooManyAttachments
  · BarNeedsRewrite
  · BarOutOfReach
  · CallerUnchecked
  · ClaimRefused
  · ClusterError
    · ClusterLost
    · ClusterNeedsServers
    · ClusterPackageMissing
    · ClusterUnreachable
    · WorkerLost
    · WorkerUnusable
  · DataFolderGone
  · DataFolderUnwritable
  · DatabaseGone
  · EngineClosed
  · EpochsSpent
  · EvaluationError
    · BatchActive
    · DataSetTooLarge
    · DataSetUnusable
    · InvalidQuerySet
    · JudgementsUnusable
    · NoAnswer
    · NothingGathered
    · SetNotCovered
    · UnknownBatch
    · UnknownDraft
    · UnknownMeasure
    · UnknownQuerySet
  · ExtractorFailed
  · ForeignRunFailed
  · GateOutOfReach
  · GraphBusy
  · GraphReplaced
  · GraphStoreError
    · GraphDamaged
    · GraphFileNewer
    · GraphFileUnusable
    · GraphMissing
  · HostError
    · DiskFull
    · DiskLow
    · EmbedderFellBack
    · HostBusy
    · InvalidModelName
    · ModelUnknownToRegistry
    · PartSlow
    · PluginBroken
    · PluginMissing
    · PullInterrupted
    · PullRefused
    · ReaderIncomplete
  · InvalidConfig
  · InvalidQuestion
  · InvalidSettings
  · InvalidToken
  · JobActive
  · JobDamaged
  · JobDiskFull
  · JobFolderUnusable
  · JobOver
  · JobsUnreachable
  · LoopLimitReached
  · ModeFellBack
  · ModelError
    · AnswerCut
    · AnswerUncited
    · BudgetSpent
    · CrossEncoderMisnamed
    · CrossEncoderMissing
    · CrossEncoderPackageMissing
    · CrossEncoderUnusable
    · EmptyReply
    · GraderFailed
    · ModelGarbled
    · ModelInterrupted
    · ModelKeyRefused
    · ModelNotPulled
    · ModelNotServed
    · ModelRefused
    · ModelReplyTooLarge
    · ModelTimeout
    · ModelUnreachable
    · PromptTooLong
    · RerankServerUnset
    · RerankServerUnusable
    · TextTooLong
    · TextUnembeddable
    · UnknownProvider
    · UnreadableReply
      · ThoughtTooLong
    · WordlessReply
  · MoveRefused
  · NotAllowed
  · NotSignedIn
  · NothingToRead
  · PeopleUnusable
  · PortTaken
  · PostgresDriverMissing
  · QualityLow
  · RecordError
    · CollectionChanged
    · DatabaseNewer
    · ForkRefused
    · InvalidTag
    · ObservationLost
    · ReadOnlyRun
    · RunActive
    · RunNotOver
    · UnknownRun
  · RunEnded
  · SharedModel
  · SignInOff
  · SourceError
    · SourceBomb
    · SourceDamaged
    · SourceEmpty
    · SourceEncoding
    · SourceEncrypted
    · SourceGarbled
    · SourceMislabelled
    · SourceMisnamed
    · SourceMissing
    · SourcePassedOver
    · SourceScanned
    · SourceTimedOut
    · SourceTooDemanding
    · SourceTooLarge
    · SourceTooManyPages
    · SourceUnreadable
    · SourceUnsupported
  · StoreError
    · AliasTaken
    · CollectionBusy
    · CollectionExists
    · ConnectionsDamaged
    · EmbeddingMismatch
    · FieldTooLong
    · ForeignCollection
    · FullTextMissing
    · InvalidAddress
    · InvalidCollectionName
    · MemorySlow
    · ModelNotRecorded
    · NothingToSwitch
    · RemoteLocked
    · RemoteRefused
    · RemoteUnreachable
    · ReversedStore
    · SamplesStay
    · SecretKeyUnfit
    · StoreDamaged
    · StoreDatabaseMissing
    · StoreFull
    · StoreHalfMade
    · StoreLocked
    · StoreRefused
    · StoreSlow
    · StoreUnreachable
    · StoreUnreadable
    · UnknownAlias
    · UnknownCollection
    · UnknownDatabase
    · UnknownMemory
    · UnusableCollection
      · TextlessCollection
  · TokenRefused
  · TooManyFiles
  · TooManyRuns
    · PersonLimitReached
  · UnknownEntity
  · UnknownJob
  · UnknownToken
  · UnknownWeakPoint
  · WaitedTooLong
  · WeakPointsUnusable
  · WebSearchError
    · WebSearchMalformed
    · WebSearchRefused
    · WebSearchSlow
    · WebSearchUnreachable
"""

from engine.errors.attachment import *
from engine.errors.base import *
from engine.errors.cluster import *
from engine.errors.config import *
from engine.errors.evaluation import *
from engine.errors.graph import *
from engine.errors.host import *
from engine.errors.jobs import *
from engine.errors.model import *
from engine.errors.people import *
from engine.errors.record import *
from engine.errors.recorded import *
from engine.errors.remote import *
from engine.errors.source import *
from engine.errors.store import *
from engine.errors.web import *
